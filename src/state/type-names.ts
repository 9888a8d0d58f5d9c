/**
 * Names for the instance types of several node classes in one problem. The engine identifies types by name, but two node classes can sell
 * the same type at other prices or in other zones. So a name that is already taken is prefixed with the node class.
 */
import { LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { InstanceType } from '../engine/problem.ts';

export class TypeNames {
  readonly #types = new Map<string, InstanceType>();
  /** The given types, by their names in the problem. */
  readonly #given = new Map<string, InstanceType>();
  readonly #cloudNames = new Map<string, string>();

  /** Adds the types of a node class and returns their names in the problem. */
  add(nodeClass: string, types: readonly InstanceType[]): string[] {
    return types.map((type) => this.#add(nodeClass, type));
  }

  /** One node class can have several types of a name, if its pools see different prices. */
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

  /** The cloud's name of a type. */
  cloudName(name: string): string {
    return this.#cloudNames.get(name) ?? name;
  }
}
