/** Breaks lines between words so that none is wider than `width`; continuation lines are indented further. */
export function wrapped(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  if (line.length <= width) return line;
  const margin = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = margin;
  for (const word of line.trim().split(' ')) {
    const room = current.trim() === '' || current.length + 1 + word.length <= width;
    if (!room) {
      lines.push(current);
      current = `${margin}  `;
    }
    current = current.trim() === '' ? `${current}${word}` : `${current} ${word}`;
  }
  return [...lines, current].join('\n');
}
