// timedProfile: the same profile, with the duration of each plugin call measured. Used for a sample of the attempts,
// because two clock reads per node would cost more than most plugins.
import type { Clock } from '../../base/time/clock.ts'
import type { Histogram } from '../../base/observability/metrics.ts'
import { makeProfile, type ExtensionPoint, type Profile } from '../framework/profile.ts'
import type { SchedulerPlugin } from '../framework/framework.ts'

const timedPoints = [
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const satisfies readonly ExtensionPoint[]

type TimedPoint = (typeof timedPoints)[number]

export function timedProfile(profile: Profile, pluginSeconds: Histogram, clock: Clock): Profile {
  const timed = new Map(profile.plugins.map((plugin) => [plugin, timedPlugin(plugin, pluginSeconds, clock)]))
  const of = (plugin: SchedulerPlugin) => timed.get(plugin) ?? plugin
  const { schedulerName, percentageOfNodesToScore, at, scoring } = profile
  const others = Object.entries(at).map(([point, plugins]) => ({
    point: point as ExtensionPoint,
    plugins: plugins.map((plugin) => ({ plugin: of(plugin), weight: 1 })),
  }))
  const scores = {
    point: 'score' as const,
    plugins: scoring.map(({ plugin, weight }) => ({ plugin: of(plugin), weight })),
  }
  return makeProfile(schedulerName, percentageOfNodesToScore, [...others, scores])
}

function timedPlugin(plugin: SchedulerPlugin, pluginSeconds: Histogram, clock: Clock): SchedulerPlugin {
  const timed = (point: TimedPoint) => {
    const method = plugin[point] as ((...args: unknown[]) => unknown) | undefined
    if (method === undefined) return []
    const labels = { extension_point: point[0]?.toUpperCase() + point.slice(1), plugin: plugin.name }
    const succeeded = { ...labels, status: 'Success' }
    const rejected = { ...labels, status: 'Unschedulable' }
    const observe = (result: unknown, sinceMs: number) => {
      const seconds = (clock.monotonicMs() - sinceMs) / 1000
      pluginSeconds.observe(isRejection(result) ? rejected : succeeded, seconds)
      return result
    }
    const call = (...args: unknown[]) => {
      const sinceMs = clock.monotonicMs()
      const result = method.apply(plugin, args)
      return result instanceof Promise
        ? result.then((value: unknown) => observe(value, sinceMs))
        : observe(result, sinceMs)
    }
    return [[point, call]] as const
  }
  return { ...plugin, ...Object.fromEntries(timedPoints.flatMap(timed)) }
}

const isRejection = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'rejected'
