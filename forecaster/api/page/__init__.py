"""The page at `/`: plain HTML, styles and modules, which ask the same `/v1` as everybody else."""
