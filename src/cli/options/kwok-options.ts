// The flags of coxswain kwok, with upstream's names.
import { stat } from 'node:fs/promises'
import { parseCidr } from '../../base/net/cidr.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { errorText } from '../../base/observability/log.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { parseTemplateYaml } from '../../cluster/components/kwok.ts'
import { manifestObjects } from '../../cluster/manifests/manifest.ts'
import { kwokAnnotation, type KwokSettings, type NodeSelection } from '../../kwok/kwok.ts'
import { stageApiVersion, type StageObject } from '../../kwok/stages/stage-kind.ts'
import { readStage } from '../../kwok/stages/read-stage.ts'
import type { Stage } from '../../kwok/stages/stage.ts'
import { UsageError } from '../command/command.ts'
import { asUsage, readOptionFile } from './component-options.ts'

const podRangeDefault = '10.0.0.0/24'
const nodeIpDefault = '10.0.0.1'
const fileBytesMax = 16 * 1024 * 1024

export const kwokFlags = {
  config: { type: 'string', value: '<file>', isRepeatable: true, help: 'a YAML file with Stages; may be repeated' },
  'manage-all-nodes': { type: 'boolean', help: 'simulate all nodes' },
  'manage-nodes-with-annotation-selector': {
    type: 'string',
    value: '<selector>',
    help: `simulate the nodes with these annotations (${kwokAnnotation})`,
  },
  'manage-nodes-with-label-selector': {
    type: 'string',
    value: '<selector>',
    help: 'simulate the nodes with these labels instead',
  },
  cidr: {
    type: 'string',
    value: '<range>',
    help: `addresses of pods whose node has no range of pods (${podRangeDefault})`,
  },
  'node-ip': { type: 'string', value: '<address>', help: `the address of nodes that have none (${nodeIpDefault})` },
} as const

export interface KwokFlagValues {
  /** Separated by commas. */
  readonly config?: string | undefined
  readonly 'manage-all-nodes'?: boolean | undefined
  readonly 'manage-nodes-with-annotation-selector'?: string | undefined
  readonly 'manage-nodes-with-label-selector'?: string | undefined
  readonly cidr?: string | undefined
  readonly 'node-ip'?: string | undefined
}

export async function kwokSettings(flags: KwokFlagValues, version: string): Promise<KwokSettings> {
  const { config, cidr = podRangeDefault, 'node-ip': nodeIp = nodeIpDefault } = flags
  const podRange = parseCidr(cidr)
  if (podRange === undefined) throw new UsageError(`--cidr ${JSON.stringify(cidr)} is not a range such as 10.0.0.0/24`)
  if (parseIp(nodeIp) === undefined) throw new UsageError(`--node-ip ${JSON.stringify(nodeIp)} is not an address`)
  const stages = (await Promise.all((config?.split(',') ?? []).map(stagesOf))).flat()
  return { nodes: selectionOf(flags), stages, nodeIp, podRange, version }
}

function selectionOf(flags: KwokFlagValues): NodeSelection {
  const { 'manage-nodes-with-annotation-selector': annotations, 'manage-nodes-with-label-selector': labels } = flags
  const isAll = flags['manage-all-nodes'] === true
  if ([isAll, annotations !== undefined, labels !== undefined].filter(Boolean).length > 1)
    throw new UsageError('name the nodes with one of the flags --manage-…')
  if (isAll) return { by: 'all' }
  return labels === undefined
    ? { by: 'annotations', selector: asUsage(() => parseLabelSelector(annotations ?? kwokAnnotation)) }
    : { by: 'labels', selector: asUsage(() => parseLabelSelector(labels)) }
}

async function stagesOf(path: string): Promise<readonly Stage[]> {
  const { size } = await stat(path).catch(() => ({ size: 0 })) // the reader names the problem
  if (size > fileBytesMax) throw new UsageError(`--config ${path} has more than ${fileBytesMax} bytes`)
  const text = await readOptionFile('the configuration', path)
  try {
    const objects = await manifestObjects(text)
    return objects.flatMap((object) => {
      const { apiVersion, kind, metadata } = object
      if (apiVersion !== stageApiVersion || kind !== 'Stage') throw new Error(`${apiVersion} ${kind} is not supported`)
      const name = metadata?.name ?? ''
      try {
        return readStage(object as unknown as StageObject, parseTemplateYaml) ?? []
      } catch (error) {
        throw new Error(`Stage ${name}: ${errorText(error)}`, { cause: error })
      }
    })
  } catch (error) {
    throw new UsageError(`--config ${path}: ${errorText(error)}`, { cause: error })
  }
}
