/** Splits a command line as a shell does: blanks, single and double quotes, backslashes, lines that go on. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else if (character === '\\' && quote === '"' && '"\\$`'.includes(text[index + 1] ?? ' '))
        word += text[++index] ?? '';
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (character === '\\') {
      const next = text[++index] ?? '';
      if (next !== '\n') word = (word ?? '') + next;
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
