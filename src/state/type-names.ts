/**
 * Instance types of several node classes in one problem. The engine tells types apart by name; two node classes can sell
 * the same type at other prices or in other zones, so a name that is taken by another type gets the node class before it.
 */
import { LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { InstanceType } from '../engine/problem.ts';

export class TypeNames {
  readonly #types = new Map<string, InstanceType>();
  readonly #cloudNames = new Map<string, string>();

  /** Takes the types of a node class in, and gives the names they have in the problem. */
  add(nodeClass: string, types: readonly InstanceType[]): string[] {
    return types.map((type) => {
      const known = this.#types.get(type.name);
      if (known === type) return type.name;
      if (known === undefined) {
        this.#types.set(type.name, type);
        return type.name;
      }
      const name = `${nodeClass}:${type.name}`;
      if (!this.#types.has(name)) {
        this.#types.set(name, { ...type, name, labels: { ...type.labels, [LABEL_INSTANCE_TYPE]: type.name } });
        this.#cloudNames.set(name, type.name);
      }
      return name;
    });
  }

  all(): InstanceType[] {
    return [...this.#types.values()];
  }

  /** What the cloud calls it. */
  cloudName(name: string): string {
    return this.#cloudNames.get(name) ?? name;
  }
}
