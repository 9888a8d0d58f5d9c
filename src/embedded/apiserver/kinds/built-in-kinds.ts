import { AUTHENTICATION_KINDS } from './access-kinds.ts';
import { APPS_KINDS } from './apps-kinds.ts';
import { BATCH_KINDS } from './batch-kinds.ts';
import { CORE_KINDS } from './core-kinds.ts';
import { DEVICE_KINDS } from './device-kinds.ts';
import { EVENT_KINDS } from './event-kinds.ts';
import { EXTENSION_KINDS } from './extension-kinds.ts';
import type { Kind } from './kind.ts';
import { NETWORKING_KINDS } from './networking-kinds.ts';
import { POLICY_KINDS } from './policy-kinds.ts';
import { STORAGE_KINDS } from './storage-kinds.ts';

/** All built-in kinds, in discovery order. */
export function builtInKinds(): Kind[] {
  return [
    ...CORE_KINDS,
    ...EXTENSION_KINDS,
    ...APPS_KINDS,
    ...EVENT_KINDS,
    ...AUTHENTICATION_KINDS,
    ...BATCH_KINDS,
    ...NETWORKING_KINDS,
    ...POLICY_KINDS,
    ...STORAGE_KINDS,
    ...DEVICE_KINDS,
  ];
}
