/**
 * Instance types of several node classes in one problem. The engine tells types apart by name; two node classes can sell
 * the same type at other prices or in other zones, so a name that is taken by another type gets the node class before it.
 */
import { LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { InstanceType } from '../engine/problem.ts';

export class TypeNames {
  readonly #types = new Map<string, InstanceType>();
  /** As they were given, by their names in the problem. */
  readonly #given = new Map<string, InstanceType>();
  readonly #cloudNames = new Map<string, string>();

  /** Takes the types of a node class in, and gives the names they have in the problem. */
  add(nodeClass: string, types: readonly InstanceType[]): string[] {
    return types.map((type) => this.#add(nodeClass, type));
  }

  /** Of one node class there are several of a name where its pools look at prices differently. */
  #add(nodeClass: string, type: InstanceType): string {
    for (let variant = 0; ; variant++) {
      const name = variant === 0 ? type.name : `${nodeClass}${variant === 1 ? '' : `#${variant}`}:${type.name}`;
      const known = this.#given.get(name);
      if (known === type) return name;
      if (known !== undefined) continue;
      this.#given.set(name, type);
      if (variant === 0) this.#types.set(name, type);
      else {
        this.#types.set(name, { ...type, name, labels: { ...type.labels, [LABEL_INSTANCE_TYPE]: type.name } });
        this.#cloudNames.set(name, type.name);
      }
      return name;
    }
  }

  all(): InstanceType[] {
    return [...this.#types.values()];
  }

  /** What the cloud calls it. */
  cloudName(name: string): string {
    return this.#cloudNames.get(name) ?? name;
  }
}
