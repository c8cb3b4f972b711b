// Controls, regions and pictures without a name, identifiers that come twice, headings that skip.
() => {
  const named = (node) =>
    node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim() ||
    (node.getAttribute("aria-labelledby") && document.getElementById(node.getAttribute("aria-labelledby")));
  const all = (wanted) => [...document.querySelectorAll(wanted)];
  const found = all("button, input, select, summary, section, nav, form:not(dialog form), dialog, [role=img]")
    .filter((node) => !named(node)).map((node) => `no name: ${node.outerHTML.slice(0, 80)}`);
  const ids = all("[id]").map((node) => node.id);
  found.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `twice: ${id}`));
  const levels = all("h1, h2, h3, h4").filter((node) => node.checkVisibility()).map((node) => Number(node.tagName[1]));
  levels.forEach((level, at) => level > (levels[at - 1] ?? 0) + 1 && found.push(`heading ${at} skips to ${level}`));
  if (levels.filter((level) => level === 1).length !== 1) found.push("not one h1");
  if (!document.documentElement.lang) found.push("no language");
  return found;
}
