/** `In a, b` of a needed change as people say it; comparisons are left as they are. */
export function wantedText(wanted: string): string {
  const [, operator, values = ''] = /^(\w+) ?(.*)$/.exec(wanted) ?? [];
  if (operator === 'In') return values.replaceAll(', ', ' or ');
  if (operator === 'NotIn') return `anything but ${values.replaceAll(', ', ' and ')}`;
  if (operator === 'Exists') return 'any value';
  return operator === 'DoesNotExist' ? 'none' : wanted;
}
