/** Playground, inference.llmaz.io/v1alpha1: an inference service of llmaz, with the fields that are read. */
import { type KubeObject, resource } from '../kubernetes/object.ts';

export interface Playground extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly modelClaim?: { readonly modelName?: string; readonly inferenceFlavors?: readonly string[] };
    readonly modelClaims?: {
      readonly models?: readonly { readonly name?: string; readonly role?: string }[];
      readonly inferenceFlavors?: readonly string[];
    };
    readonly backendRuntimeConfig?: { readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> } };
  };
}

export const PLAYGROUNDS = resource<Playground>(
  'inference.llmaz.io/v1alpha1',
  'Playground',
  'playgrounds',
  'namespaced',
);
