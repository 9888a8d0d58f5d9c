import { type Environment, Optional } from '@marcbachmann/cel-js';
import { hasFormat } from '../../formats.ts';

/** A named string format; `check` returns the problems of a string. */
class NamedFormat {
  readonly check: (text: string) => string[];
  constructor(check: (text: string) => string[]) {
    this.check = check;
  }
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

function matching(what: string, pattern: string, limit: number, prefix = false): NamedFormat {
  const expression = new RegExp(`^${pattern}$`);
  return new NamedFormat((text) => {
    const checked = prefix ? text.replace(/-$/, '') : text;
    const problems = checked.length > limit ? [`must be no more than ${limit} characters`] : [];
    return expression.test(checked) ? problems : [...problems, `${what} must match '${pattern}'`];
  });
}

function standard(format: string, sentence: string): NamedFormat {
  return new NamedFormat((text) => (hasFormat(text, format) ? [] : [sentence]));
}

function qualifiedName(): NamedFormat {
  const name = matching('name part', QUALIFIED, 63);
  const prefix = matching('prefix part', `${LABEL}(\\.${LABEL})*`, 253);
  return new NamedFormat((text) => {
    const parts = text.split('/');
    if (parts.length > 2) return ['a qualified name must be a name with an optional DNS subdomain prefix and "/"'];
    const [first = '', second] = parts;
    return second === undefined ? name.check(first) : [...prefix.check(first), ...name.check(second)];
  });
}

const FORMATS: Readonly<Record<string, NamedFormat>> = {
  dns1123Label: matching('a lowercase RFC 1123 label', LABEL, 63),
  dns1123LabelPrefix: matching('a lowercase RFC 1123 label', LABEL, 63, true),
  dns1123Subdomain: matching('a lowercase RFC 1123 subdomain', `${LABEL}(\\.${LABEL})*`, 253),
  dns1123SubdomainPrefix: matching('a lowercase RFC 1123 subdomain', `${LABEL}(\\.${LABEL})*`, 253, true),
  dns1035Label: matching('a DNS-1035 label', '[a-z]([-a-z0-9]*[a-z0-9])?', 63),
  dns1035LabelPrefix: matching('a DNS-1035 label', '[a-z]([-a-z0-9]*[a-z0-9])?', 63, true),
  qualifiedName: qualifiedName(),
  labelValue: matching('a valid label', `(${QUALIFIED})?`, 63),
  uri: standard('uri', 'invalid URI for request'),
  uuid: standard('uuid', 'does not match the UUID format'),
  byte: standard('byte', 'invalid base64'),
  date: standard('date', 'invalid date'),
  datetime: standard('date-time', 'invalid datetime'),
};

/** The value of the name `format` in rules, for `format.named` and others. */
class FormatNamespace {}

/** `format.dns1123Label().validate(text)`, `format.named('uuid')`. */
export function registerNamedFormats(env: Environment): void {
  env
    .registerType('kubernetes.NamedFormat', { ctor: NamedFormat, fields: {} })
    .registerType('FormatNamespace', FormatNamespace)
    .registerConstant('format', 'FormatNamespace', new FormatNamespace())
    .registerFunction(
      'kubernetes.NamedFormat.validate(string): optional<list<string>>',
      (format: NamedFormat, text: string) => {
        const problems = format.check(text);
        return problems.length === 0 ? Optional.none() : Optional.of(problems);
      },
    )
    .registerFunction('FormatNamespace.named(string): optional<kubernetes.NamedFormat>', (_, name: string) =>
      Object.hasOwn(FORMATS, name) ? Optional.of(FORMATS[name]) : Optional.none(),
    );
  for (const [name, format] of Object.entries(FORMATS)) {
    env.registerFunction(`FormatNamespace.${name}(): kubernetes.NamedFormat`, () => format);
  }
}
