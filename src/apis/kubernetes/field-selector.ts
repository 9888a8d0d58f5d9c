/** Field selectors: `metadata.name=x,status.phase!=Failed`. Which fields a kind has is for its reader to say. */
import { selectorInvalid } from './label-requirement.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Reads a field selector; SELECTOR_INVALID with the API server's sentence. */
export function parseFieldSelector(selector: string): FieldRequirement[] {
  return splitTerms(selector)
    .filter((term) => term !== '')
    .sort()
    .map((term) => {
      const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (match === null) throw selectorInvalid(`invalid selector: '${selector}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = match;
      return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) } as const;
    })
    .filter(({ field, value }) => field !== '' || value !== '');
}

/** Tells whether an object's fields meet every requirement; a field that is not set counts as empty. */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  fieldOf: (field: string) => string | undefined,
): boolean {
  return requirements.every(({ field, operator, value }) => ((fieldOf(field) ?? '') === value) === (operator === '='));
}

/** The text as it must stand in a selector to mean itself. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** Cuts at commas that are not behind a backslash. */
function splitTerms(selector: string): string[] {
  const terms: string[] = [''];
  for (const [piece] of selector.matchAll(/\\.?|,|[^\\,]+/gs)) {
    if (piece === ',') terms.push('');
    else terms[terms.length - 1] += piece;
  }
  return terms;
}

function unescapeValue(value: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (sequence, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw selectorInvalid(`invalid field selector: unescaped character in value: ${sequence.codePointAt(0)}`);
    }
    if (!/^[\\,=]$/.test(escaped))
      throw selectorInvalid(`invalid field selector: invalid escape sequence: ${sequence}`);
    return escaped;
  });
}
