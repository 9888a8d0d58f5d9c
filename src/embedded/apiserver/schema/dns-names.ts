/** DNS names, with the API server's messages for invalid ones. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';

/** Why a text is not a lowercase RFC 1123 subdomain; empty if it is one. */
export function dns1123Problems(text: string): string[] {
  const sentence = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
  return problems(text, SUBDOMAIN, 253, sentence);
}

/** Why a text is not a DNS-1035 label; empty if it is one. */
export function dns1035Problems(text: string): string[] {
  const sentence = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;
  return problems(text, LABEL_1035, 63, sentence);
}

function problems(text: string, pattern: string, limit: number, sentence: string): string[] {
  const tooLong = text.length > limit ? [`must be no more than ${limit} bytes`] : [];
  return new RegExp(`^${pattern}$`).test(text) ? tooLong : [...tooLong, sentence];
}
