import { type KubeObject, resource } from './object.ts';

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The core group's Event: the one that `kubectl describe` shows. */
export interface Event extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly source?: { readonly component?: string };
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly count?: number;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

export const EVENTS = resource<Event>('v1', 'Event', 'events', 'namespaced');
