import type { Schema } from '../schema.ts';

/** The schema of a built-in kind, `builtInSchema('apps/v1', 'Deployment')`; undefined for a kind that has none. */
export declare function builtInSchema(apiVersion: string, kind: string): Schema | undefined;
