import { describe, expect, it } from 'vitest';
import { createFailure, isInstanceGone } from './create-failure.ts';
import { isInterruptible, machineSettings } from './machine-settings.ts';

describe('spot fields of infrastructure machines (acceptance 7.1)', () => {
  it('18, 19: an AWSMachine is spot when spotMarketOptions is there, empty or not', () => {
    expect(machineSettings('AWSMachineTemplate', { instanceType: 'm5.large', spotMarketOptions: {} })).toEqual({
      provider: 'aws',
      instanceType: 'm5.large',
      spot: { staysWhenEvicted: false },
      problems: [],
    });
    expect(machineSettings('AWSMachine', { spotMarketOptions: { maxPrice: '0.02' } }).spot?.maxPrice).toBe('0.02');
    expect(machineSettings('AWSMachine', { spotMarketOptions: { maxPrice: '' } }).spot).toEqual({
      staysWhenEvicted: false,
    });
    expect(machineSettings('AWSMachine', { instanceType: 'm5.large' }).spot).toBeUndefined();
  });

  it('18: marketType Spot alone is spot too, though CAPA does not say so in the status', () => {
    expect(isInterruptible('AWSMachine', { marketType: 'Spot' }, {})).toBe(true);
    expect(isInterruptible('AWSMachine', { marketType: 'OnDemand' }, {})).toBe(false);
  });

  it('21, 22: persistent and hibernating requests are reported', () => {
    const { problems } = machineSettings('AWSMachine', {
      spotMarketOptions: { spotInstanceType: 'persistent', instanceInterruptionBehavior: 'hibernate' },
      hibernationOptions: { configured: true },
    });
    expect(problems.map(({ field }) => field)).toEqual([
      'spotMarketOptions.spotInstanceType',
      'spotMarketOptions.instanceInterruptionBehavior',
      'hibernationOptions',
    ]);
  });

  it('reports spot fields beside a market or reservation that they do not go with', () => {
    const fields = (spec: Record<string, unknown>) =>
      machineSettings('AWSMachine', spec).problems.map(({ field }) => field);
    expect(fields({ marketType: 'CapacityBlock', spotMarketOptions: {} })).toEqual(['spotMarketOptions']);
    expect(fields({ marketType: 'Spot', capacityReservationId: 'cr-1' })).toEqual(['capacityReservationId']);
  });

  it('24, 25: a preemptible GCPMachine ends after a day, one of the Spot model does not', () => {
    expect(machineSettings('GCPMachine', { preemptible: true }).spot?.endsAfterMs).toBe(86_400_000);
    expect(machineSettings('GCPMachine', { preemptible: true, provisioningModel: 'Spot' }).spot).toEqual({
      staysWhenEvicted: true,
    });
    expect(machineSettings('GCPMachine', { provisioningModel: 'Standard' }).spot).toBeUndefined();
    expect(machineSettings('GCPMachine', { provisioningModel: 'Cheap' }).problems[0]?.message).toContain('Cheap');
  });

  it('27, 28, 29: an AzureMachine is spot when spotVMOptions is there; -1 is no limit; the policy is inferred', () => {
    expect(machineSettings('AzureMachine', { vmSize: 'Standard_D2s_v3', spotVMOptions: {} }).spot).toEqual({
      staysWhenEvicted: true,
    });
    expect(machineSettings('AzureMachine', { spotVMOptions: { maxPrice: -1 } }).spot?.maxPrice).toBeUndefined();
    expect(machineSettings('AzureMachine', { spotVMOptions: { maxPrice: '0.04' } }).spot?.maxPrice).toBe('0.04');
    expect(
      machineSettings('AzureMachine', { spotVMOptions: { evictionPolicy: 'Delete' } }).spot?.staysWhenEvicted,
    ).toBe(false);
  });

  it('40: spot with an ephemeral disk is reported, and refused where it would be deallocated', () => {
    const osDisk = { diffDiskSettings: { option: 'Local' } };
    const severity = (spotVMOptions: object) =>
      machineSettings('AzureMachine', { spotVMOptions, osDisk }).problems[0]?.severity;
    expect(severity({})).toBe('warning');
    expect(severity({ evictionPolicy: 'Deallocate' })).toBe('refused');
  });

  it('35: status.interruptible counts while true; absent it says nothing; of a wrong type it is an error', () => {
    expect(isInterruptible('AWSMachine', {}, { interruptible: true })).toBe(true);
    expect(isInterruptible('AWSMachine', {}, {})).toBe(false);
    expect(() => isInterruptible('AWSMachine', {}, { interruptible: 'yes' })).toThrow(
      'must be true or false, not "yes"',
    );
  });
});

describe('why there is no instance', () => {
  const failing = (type: string, reason: string, message: string) => ({
    conditions: [{ type, status: 'False' as const, reason, message }],
  });

  it.each([
    [
      'aws',
      'InstanceReady',
      'InstanceProvisionFailed',
      'api error InsufficientInstanceCapacity: We currently do not have',
      'capacity',
    ],
    [
      'aws',
      'InstanceReady',
      'InstanceProvisionFailed',
      'SpotMaxPriceTooLow: Your Spot request price of 0.001 is lower',
      'price',
    ],
    [
      'aws',
      'InstanceReady',
      'InstanceProvisionFailed',
      'MaxSpotInstanceCountExceeded: Max spot instance count exceeded',
      'quota',
    ],
    ['gcp', 'Ready', 'Failed', 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: the zone does not have enough', 'capacity'],
    ['gcp', 'Ready', 'Failed', 'QUOTA_EXCEEDED: Quota PREEMPTIBLE_CPUS exceeded', 'quota'],
    [
      'azure',
      'VMRunning',
      'VMProvisionFailed',
      'OperationNotAllowed: exceeding approved LowPriorityCores quota',
      'quota',
    ],
    ['azure', 'VMRunning', 'VMProvisionFailed', 'SkuNotAvailable: The requested VM size is not available', 'capacity'],
  ] as const)('%s %s %s: %s', (provider, type, reason, message, cause) => {
    expect(createFailure(provider, failing(type, reason, message))?.cause).toBe(cause);
  });

  it('is not known while the text is about passing trouble or nothing has been said', () => {
    expect(createFailure('aws', failing('InstanceReady', 'InstanceProvisionStarted', ''))).toBeUndefined();
    expect(
      createFailure('azure', failing('VMRunning', 'VMProvisionFailed', 'OperationNotAllowed: the VM is being deleted')),
    ).toBeUndefined();
    expect(createFailure('aws', {})).toBeUndefined();
  });

  it('tells an instance that is gone or stopped from one that has yet to start', () => {
    expect(isInstanceGone(failing('InstanceReady', 'InstanceTerminated', 'gone'))).toBe('InstanceTerminated: gone');
    expect(isInstanceGone({ instanceStatus: 'TERMINATED' })).toBe('the instance is TERMINATED');
    expect(isInstanceGone({ instanceStatus: 'STAGING' })).toBeUndefined();
  });
});
