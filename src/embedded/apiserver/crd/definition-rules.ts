import type { FieldError } from '../schema/field-error.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';

/** Fills in what a definition may leave out: singular, listKind, conversion; as the API server does on create and update. */
export declare function defaultDefinition(definition: CustomResourceDefinition): CustomResourceDefinition;

/** What is wrong with a definition (before its names are looked at); with the old one also what may not change. */
export declare function validateDefinition(
  definition: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): FieldError[];

/** The status after a write: acceptedNames, conditions NamesAccepted and Established, storedVersions. `others` are the
 * definitions of the same group that are there; `builtIn` the names that the server itself takes in that group. */
export declare function definitionStatus(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): NonNullable<CustomResourceDefinition['status']>;
