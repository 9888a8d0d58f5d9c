import type { Shape } from '../catalogue/shape.ts';
import type { Shapes, SoldShape } from '../catalogue/shapes.ts';
import { builtInTable } from './built-in-table.ts';

/** By region and zone letters: the types sold in exactly these zones, separated by blanks. */
type Zones = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The shapes of a region when the catalogue was made; none for an unknown region. */
export function builtInShapes(region: string): Shapes {
  const shapes = new Map(builtInTable<readonly Shape[]>('shapes').map((shape) => [shape.name, shape]));
  const sold = new Map<string, SoldShape>();
  for (const [letters, types] of Object.entries(builtInTable<Zones>('zones')[region] ?? {})) {
    const zones = new Set([...letters].map((letter) => `${region}${letter}`));
    for (const type of types.split(' ')) {
      const shape = shapes.get(type);
      if (shape !== undefined) sold.set(type, { shape, zones });
    }
  }
  return sold;
}
