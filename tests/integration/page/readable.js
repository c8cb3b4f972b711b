// Texts whose contrast to what lies behind them is below 4.5 (WCAG 2.2, 1.4.3).
() => {
  const channels = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((one) => one / 255);
  };
  const over = (above, below) => [0, 1, 2].map((at) => above[at] * above[3] + below[at] * (1 - above[3]));
  const ground = (node) => {
    if (!node) return [1, 1, 1];
    const own = channels(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(node.parentElement));
  };
  const light = (colour) => {
    const [red, green, blue] = colour.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => (Math.max(light(one), light(other)) + 0.05) / (Math.min(light(one), light(other)) + 0.05);
  const isShown = (node) => node.checkVisibility() && !node.closest(".unseen, .skip, :disabled");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = [];
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || node.matches("script, noscript, option") || !isShown(node)) continue;
    const behind = ground(node);
    const found = contrast(over(channels(getComputedStyle(node).color), behind), behind);
    if (found < 4.5) poor.push(`${texts.currentNode.data.trim()}: ${found.toFixed(2)}`);
  }
  return poor;
}
