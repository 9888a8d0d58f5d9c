/** The base of drivers that launch one machine for each claim in one region: types and prices from built-in tables, no drift, no notices. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Catalogue, Cloud, CloudLabels, Drift, LaunchAnswer, LaunchRequest } from '../cloud.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { NodeClass } from '../node-class-kind.ts';
import { AgedCatalogue } from './aged-catalogue.ts';
import { limitedCall } from './limited-call.ts';

export interface ThinDriverOptions {
  readonly clock: Clock;
  /** The cluster whose machines these are. */
  readonly cluster: string;
  readonly controllers?: Cloud['controllers'];
  readonly callTimeoutMs?: number;
}

export abstract class ThinDriver implements Cloud {
  abstract readonly name: string;
  abstract readonly nodeClass: Cloud['nodeClass'];
  abstract readonly labels: CloudLabels;
  readonly settleMs = 10_000;
  readonly repairPolicies = [];
  readonly noticeSources = [];
  readonly controllers: Cloud['controllers'];
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #region: string;
  readonly #catalogue: AgedCatalogue;

  constructor({ clock, controllers = [], callTimeoutMs = 120_000 }: ThinDriverOptions, region: string) {
    this.#clock = clock;
    this.#timeoutMs = callTimeoutMs;
    this.#region = region;
    this.controllers = controllers;
    this.#catalogue = new AgedCatalogue(clock, (signal) => this.sold(signal));
  }

  abstract launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer>;
  abstract find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined>;
  abstract get(providerID: string, signal: AbortSignal): Promise<Machine>;
  abstract list(scope: string, signal: AbortSignal): Promise<readonly Machine[]>;
  abstract delete(machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'>;
  abstract machineKey(providerID: string): string | undefined;
  /** The types of the tables that the region sells. */
  protected abstract sold(signal: AbortSignal): Promise<readonly InstanceType[]>;
  /** The error that controllers know for a refusal of the API. */
  protected abstract failure(operation: string, claim: string, error: unknown): unknown;

  scopes(): readonly string[] {
    return [this.#region];
  }

  scopeOf(): string {
    return this.#region;
  }

  catalogue(_nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    return this.#catalogue.read(signal);
  }

  async drift(): Promise<Drift | undefined> {
    return undefined;
  }

  /** Calls with a time limit; a refusal comes out as an error that controllers know. */
  protected ask<Answer>(
    operation: string,
    claim: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const failure = (error: unknown): unknown => this.failure(operation, claim, error);
    return limitedCall({ clock: this.#clock, timeoutMs: this.#timeoutMs, signal, failure }, work);
  }
}
