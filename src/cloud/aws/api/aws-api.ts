/**
 * The AWS calls that Spindrift makes, under their IAM action names. All of them use one function, so that they can be counted, throttled
 * and, in tests, faked.
 */
import type * as ec2 from '@aws-sdk/client-ec2';
import type * as eks from '@aws-sdk/client-eks';
import type * as iam from '@aws-sdk/client-iam';
import type * as pricing from '@aws-sdk/client-pricing';
import type * as ssm from '@aws-sdk/client-ssm';

/** Each call with its input and output. */
export interface AwsOperations {
  'ec2:DescribeInstanceTypes': [ec2.DescribeInstanceTypesCommandInput, ec2.DescribeInstanceTypesCommandOutput];
  'ec2:DescribeInstanceTypeOfferings': [
    ec2.DescribeInstanceTypeOfferingsCommandInput,
    ec2.DescribeInstanceTypeOfferingsCommandOutput,
  ];
  'ec2:DescribeSpotPriceHistory': [ec2.DescribeSpotPriceHistoryCommandInput, ec2.DescribeSpotPriceHistoryCommandOutput];
  'ec2:DescribeSubnets': [ec2.DescribeSubnetsCommandInput, ec2.DescribeSubnetsCommandOutput];
  'ec2:DescribeSecurityGroups': [ec2.DescribeSecurityGroupsCommandInput, ec2.DescribeSecurityGroupsCommandOutput];
  'ec2:DescribeImages': [ec2.DescribeImagesCommandInput, ec2.DescribeImagesCommandOutput];
  'ec2:DescribeCapacityReservations': [
    ec2.DescribeCapacityReservationsCommandInput,
    ec2.DescribeCapacityReservationsCommandOutput,
  ];
  'ec2:DescribePlacementGroups': [ec2.DescribePlacementGroupsCommandInput, ec2.DescribePlacementGroupsCommandOutput];
  'ec2:DescribeLaunchTemplates': [ec2.DescribeLaunchTemplatesCommandInput, ec2.DescribeLaunchTemplatesCommandOutput];
  'ec2:CreateLaunchTemplate': [ec2.CreateLaunchTemplateCommandInput, ec2.CreateLaunchTemplateCommandOutput];
  'ec2:DeleteLaunchTemplate': [ec2.DeleteLaunchTemplateCommandInput, ec2.DeleteLaunchTemplateCommandOutput];
  'ec2:CreateFleet': [ec2.CreateFleetCommandInput, ec2.CreateFleetCommandOutput];
  'ec2:RunInstances': [ec2.RunInstancesCommandInput, ec2.RunInstancesCommandOutput];
  'ec2:DescribeInstances': [ec2.DescribeInstancesCommandInput, ec2.DescribeInstancesCommandOutput];
  'ec2:TerminateInstances': [ec2.TerminateInstancesCommandInput, ec2.TerminateInstancesCommandOutput];
  'ec2:RebootInstances': [ec2.RebootInstancesCommandInput, ec2.RebootInstancesCommandOutput];
  'ec2:CreateTags': [ec2.CreateTagsCommandInput, ec2.CreateTagsCommandOutput];
  'ssm:GetParameter': [ssm.GetParameterCommandInput, ssm.GetParameterCommandOutput];
  'iam:GetInstanceProfile': [iam.GetInstanceProfileCommandInput, iam.GetInstanceProfileCommandOutput];
  'iam:CreateInstanceProfile': [iam.CreateInstanceProfileCommandInput, iam.CreateInstanceProfileCommandOutput];
  'iam:AddRoleToInstanceProfile': [iam.AddRoleToInstanceProfileCommandInput, iam.AddRoleToInstanceProfileCommandOutput];
  'iam:RemoveRoleFromInstanceProfile': [
    iam.RemoveRoleFromInstanceProfileCommandInput,
    iam.RemoveRoleFromInstanceProfileCommandOutput,
  ];
  'iam:DeleteInstanceProfile': [iam.DeleteInstanceProfileCommandInput, iam.DeleteInstanceProfileCommandOutput];
  'iam:ListInstanceProfiles': [iam.ListInstanceProfilesCommandInput, iam.ListInstanceProfilesCommandOutput];
  'pricing:GetProducts': [pricing.GetProductsCommandInput, pricing.GetProductsCommandOutput];
  'eks:DescribeCluster': [eks.DescribeClusterCommandInput, eks.DescribeClusterCommandOutput];
}

export type AwsOperation = keyof AwsOperations;

export interface AwsApi {
  /** Fails with an error of the CLOUD_* codes; an abort rejects with the signal's reason. */
  call<Op extends AwsOperation>(
    operation: Op,
    input: AwsOperations[Op][0],
    signal: AbortSignal,
  ): Promise<AwsOperations[Op][1]>;
}

/** All items of a paged answer. */
export async function allPages<Op extends AwsOperation, Item>(
  api: AwsApi,
  operation: Op,
  input: AwsOperations[Op][0],
  itemsOf: (page: AwsOperations[Op][1]) => readonly Item[] | undefined,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  let token: string | undefined;
  do {
    const page = await api.call(operation, token === undefined ? input : { ...input, NextToken: token }, signal);
    items.push(...(itemsOf(page) ?? []));
    token = (page as { NextToken?: string }).NextToken;
  } while (token !== undefined && token !== '');
  return items;
}
