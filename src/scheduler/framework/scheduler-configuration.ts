// KubeSchedulerConfiguration v1: profiles with their plugins, arguments and extenders.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import type { ExtenderConfiguration } from './extender.ts'
import type { SchedulerPlugin } from './framework.ts'
import { extensionPoints, makeProfile, type ExtensionPoint, type Profile } from './profile.ts'

export interface PluginChoice {
  readonly name: string
  readonly weight?: number
}

export interface PluginSet {
  readonly enabled?: readonly PluginChoice[]
  readonly disabled?: readonly PluginChoice[]
}

export interface ProfileConfiguration {
  readonly schedulerName?: string
  readonly percentageOfNodesToScore?: number
  readonly plugins?: Readonly<Partial<Record<ExtensionPoint | 'multiPoint', PluginSet>>>
  readonly pluginConfig?: readonly { readonly name: string; readonly args?: unknown }[]
}

export interface SchedulerConfiguration {
  readonly apiVersion?: 'kubescheduler.config.k8s.io/v1'
  readonly kind?: 'KubeSchedulerConfiguration'
  readonly percentageOfNodesToScore?: number
  readonly podInitialBackoffSeconds?: number
  readonly podMaxBackoffSeconds?: number
  readonly profiles?: readonly ProfileConfiguration[]
  readonly extenders?: readonly ExtenderConfiguration[]
}

export const defaultSchedulerName = 'default-scheduler'

/** Upstream fields that are accepted and have no effect here. */
const ignoredFields = [
  'clientConnection',
  'debuggingConfiguration',
  'delayCacheUntilActive',
  'leaderElection',
  'parallelism',
]
const ownFields = [
  'apiVersion',
  'kind',
  'percentageOfNodesToScore',
  'podInitialBackoffSeconds',
  'podMaxBackoffSeconds',
  'profiles',
  'extenders',
]

/** Validates a configuration from a file; errors name the field. */
export function parseSchedulerConfiguration(value: unknown): SchedulerConfiguration {
  if (!isJsonObject(value)) throw new Error('the scheduler configuration is not an object')
  const { apiVersion, kind } = value
  if (apiVersion !== 'kubescheduler.config.k8s.io/v1' || kind !== 'KubeSchedulerConfiguration')
    throw new Error(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`)
  const unknown = Object.keys(value).find((name) => ![...ownFields, ...ignoredFields].includes(name))
  if (unknown !== undefined) throw new Error(`unknown field ${JSON.stringify(unknown)}`)
  inRange(value, 'percentageOfNodesToScore', 0, 100)
  inRange(value, 'podInitialBackoffSeconds', 1, Infinity)
  inRange(value, 'podMaxBackoffSeconds', Number(value['podInitialBackoffSeconds'] ?? 1), Infinity)
  return value
}

function inRange(value: JsonObject, field: string, least: number, most: number): void {
  const found = lookup(value, field)
  if (found === undefined) return
  if (typeof found !== 'number' || !Number.isInteger(found) || found < least || found > most)
    throw new Error(`${field}: Invalid value: ${JSON.stringify(found)}: not in valid range [${least}-${most}]`)
}

/** Creates the profiles. Each has its own plugin instances, configured with its arguments. */
export function makeProfiles(
  { profiles = [{}], percentageOfNodesToScore = 0 }: SchedulerConfiguration,
  available: readonly SchedulerPlugin[],
  configured: (plugin: SchedulerPlugin, args: unknown, schedulerName: string) => SchedulerPlugin,
): Profile[] {
  const made = profiles.map((profile) => {
    const { schedulerName = defaultSchedulerName, pluginConfig = [] } = profile
    const stray = pluginConfig.find(({ name }) => !available.some((plugin) => plugin.name === name))
    if (stray !== undefined)
      throw new Error(`profile ${schedulerName}: plugin ${JSON.stringify(stray.name)} does not exist`)
    const instances = available.map((plugin) =>
      configured(plugin, pluginConfig.find(({ name }) => name === plugin.name)?.args, schedulerName),
    )
    return profileFrom(schedulerName, profile, instances, percentageOfNodesToScore)
  })
  const names = made.map(({ schedulerName }) => schedulerName)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`profiles: Duplicate value: ${JSON.stringify(twice)}`)
  const sorts = new Set(made.map(({ at }) => at.queueSort.map(({ name }) => name).join()))
  if (sorts.size > 1) throw new Error('profiles: all profiles must have the same queueSort plugin')
  return made
}

function profileFrom(
  schedulerName: string,
  { plugins = {}, percentageOfNodesToScore }: ProfileConfiguration,
  instances: readonly SchedulerPlugin[],
  percentageDefault: number,
): Profile {
  const byName = new Map(instances.map((plugin) => [plugin.name, plugin]))
  const find = (name: string): SchedulerPlugin => {
    const plugin = byName.get(name)
    if (plugin === undefined) throw new Error(`profile ${schedulerName}: plugin ${JSON.stringify(name)} does not exist`)
    return plugin
  }
  const everywhere = merged(instances, plugins.multiPoint ?? {}, find)
  const enabled = extensionPoints.map((point) => {
    const { enabled: own = [], disabled = [] } = plugins[point] ?? {}
    const isOff = (name: string) => disabled.some((choice) => choice.name === '*' || choice.name === name)
    const explicit = own.map(({ name, weight }) => weighted(find(name), weight))
    const rest = everywhere.filter(
      ({ plugin: { name } }) => !isOff(name) && !explicit.some(({ plugin }) => plugin.name === name),
    )
    return { point, plugins: [...explicit, ...rest] }
  })
  return makeProfile(schedulerName, percentageOfNodesToScore ?? percentageDefault, enabled)
}

const weighted = (plugin: SchedulerPlugin, weight: number | undefined) => ({
  plugin,
  weight: weight || (plugin.weight ?? 1),
})

/**
 * The default plugins without the disabled ones. A plugin that is enabled again keeps its position; others are
 * appended.
 */
function merged(
  defaults: readonly SchedulerPlugin[],
  { enabled = [], disabled = [] }: PluginSet,
  find: (name: string) => SchedulerPlugin,
) {
  const isOff = (name: string) => disabled.some((choice) => choice.name === '*' || choice.name === name)
  const kept = defaults.filter(({ name }) => !isOff(name))
  const choiceOf = (name: string) => enabled.find((choice) => choice.name === name)
  return [
    ...kept.map((plugin) => weighted(plugin, choiceOf(plugin.name)?.weight)),
    ...enabled
      .filter(({ name }) => !kept.some((plugin) => plugin.name === name))
      .map(({ name, weight }) => weighted(find(name), weight)),
  ]
}
