/** The wanted value of a needed change in words: `In a, b` becomes `a or b`. Comparisons stay as they are. */
export function wantedText(wanted: string): string {
  const [, operator, values = ''] = /^(\w+) ?(.*)$/.exec(wanted) ?? [];
  if (operator === 'In') return values.replaceAll(', ', ' or ');
  if (operator === 'NotIn') return `anything but ${values.replaceAll(', ', ' and ')}`;
  if (operator === 'Exists') return 'any value';
  return operator === 'DoesNotExist' ? 'none' : wanted;
}
