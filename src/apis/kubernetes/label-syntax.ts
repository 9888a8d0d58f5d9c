/** What a label may be called and may hold, with the API server's own sentences for what it may not. */

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const NAME_PATTERN = new RegExp(`^${NAME}$`);
const VALUE_PATTERN = new RegExp(`^(${NAME})?$`);
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`);
const LONGEST_NAME = 63;
const LONGEST_SUBDOMAIN = 253;

const CONSISTS =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_PROBLEM = `must ${CONSISTS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`;
const VALUE_PROBLEM = `a valid label must be an empty string or ${CONSISTS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME})?')`;
const SUBDOMAIN_PROBLEM = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

/** What is wrong with a label's key (also: an annotation's key, a taint's key); empty when nothing is. */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${NAME_PROBLEM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) as string;
  const problems = parts.length === 2 ? prefixProblems(parts[0] as string) : [];
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > LONGEST_NAME) problems.push(`name part must be no more than ${LONGEST_NAME} bytes`);
  if (!NAME_PATTERN.test(name)) problems.push(`name part ${NAME_PROBLEM}`);
  return problems;
}

/** What is wrong with a label's value; empty when nothing is. */
export function labelValueProblems(value: string): string[] {
  const problems: string[] = [];
  if (value.length > LONGEST_NAME) problems.push(`must be no more than ${LONGEST_NAME} bytes`);
  if (!VALUE_PATTERN.test(value)) problems.push(VALUE_PROBLEM);
  return problems;
}

/** What is wrong with a DNS subdomain, which most names of objects must be; empty when nothing is. */
export function subdomainProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > LONGEST_SUBDOMAIN) problems.push(`must be no more than ${LONGEST_SUBDOMAIN} bytes`);
  if (!SUBDOMAIN_PATTERN.test(name)) problems.push(SUBDOMAIN_PROBLEM);
  return problems;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return subdomainProblems(prefix).map((problem) => `prefix part ${problem}`);
}
