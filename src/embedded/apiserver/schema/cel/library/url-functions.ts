import type { Environment } from '@marcbachmann/cel-js';

/** An absolute URL or absolute path, parsed as by Go's url.ParseRequestURI. */
class ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(scheme: string, host: string, path: string, query: string) {
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }

  get hostname(): string {
    return this.host.startsWith('[') ? this.host.slice(1).replace(/\].*$/, '') : this.host.replace(/:\d*$/, '');
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[.*\]/, ''))?.[1] ?? '';
  }
}

const ABSOLUTE = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?#\s]*)([^?\s]*)(?:\?(\S*))?$/;

function parse(text: string): ParsedUrl | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const match = ABSOLUTE.exec(text);
  if (match !== null) {
    const [, scheme = '', authority = '', path = '', query = ''] = match;
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    if (/:[^\]]*[^\d\]][^\]]*$/.test(host) && !host.startsWith('[')) return undefined;
    return new ParsedUrl(scheme.toLowerCase(), host, path, query);
  }
  const relative = /^(\/[^?\s]*)(?:\?(\S*))?$/.exec(text);
  return relative === null ? undefined : new ParsedUrl('', '', relative[1] as string, relative[2] ?? '');
}

function query(url: ParsedUrl): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(url.query)) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

/** `url()`, `isURL()` and the methods of a URL. */
export function registerUrls(env: Environment): void {
  env
    .registerType('kubernetes.URL', { ctor: ParsedUrl, fields: {} })
    .registerFunction('url(string): kubernetes.URL', (text: string) => {
      const url = parse(text);
      if (url === undefined) throw new Error(`URL parse error during conversion from string: parse "${text}"`);
      return url;
    })
    .registerFunction('isURL(string): bool', (text: string) => parse(text) !== undefined)
    .registerFunction('kubernetes.URL.getScheme(): string', (url: ParsedUrl) => url.scheme)
    .registerFunction('kubernetes.URL.getHost(): string', (url: ParsedUrl) => url.host)
    .registerFunction('kubernetes.URL.getHostname(): string', (url: ParsedUrl) => url.hostname)
    .registerFunction('kubernetes.URL.getPort(): string', (url: ParsedUrl) => url.port)
    .registerFunction('kubernetes.URL.getEscapedPath(): string', (url: ParsedUrl) => url.path)
    .registerFunction('kubernetes.URL.getQuery(): map<string, list<string>>', query)
    .registerOperator(
      'kubernetes.URL == kubernetes.URL',
      (a: ParsedUrl, b: ParsedUrl) =>
        a.scheme === b.scheme && a.host === b.host && a.path === b.path && a.query === b.query,
    );
}
