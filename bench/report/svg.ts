/** Just enough SVG for two plots: elements as text, and a logarithmic scale with its ticks. */

type Attributes = Readonly<Record<string, string | number>>;

/** One element with its attributes and content; texts must be escaped by {@link text}. */
export function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? Math.round(value * 100) / 100 : escaped(value)}"`)
    .join('');
  return content.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${content.join('')}</${name}>`;
}

/** A text element. */
export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escaped(content));
}

/** A picture of that size with a name for those who cannot see it; on white, so that it reads the same in a dark page. */
export function picture(
  { title, width, height, style }: { title: string; width: number; height: number; style: string },
  ...content: readonly string[]
): string {
  return `${element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height },
    element('title', {}, escaped(title)),
    element('style', {}, style),
    element('rect', { width, height, fill: '#ffffff' }),
    ...content,
  )}\n`;
}

/** Maps a positive value to a place on an axis, by its logarithm. */
export interface LogScale {
  (value: number): number;
  /** The powers of ten within the domain. */
  readonly decades: readonly number[];
}

/** A logarithmic scale from [min, max] to [from, to]. */
export function logScale(min: number, max: number, from: number, to: number): LogScale {
  const [low, high] = [Math.log10(min), Math.log10(max)];
  const place = (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const first = Math.ceil(low - 1e-9);
  const decades = Array.from(
    { length: Math.max(0, Math.floor(high + 1e-9) - first + 1) },
    (_, index) => 10 ** (first + index),
  );
  return Object.assign(place, { decades });
}

function escaped(raw: string): string {
  return raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
