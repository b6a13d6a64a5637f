// Profile: the plugins for one scheduler name, by extension point.
import type { SchedulerPlugin } from './framework.ts'

/** Extension points at which plugins can be enabled and disabled individually. */
export const extensionPoints = [
  'preEnqueue',
  'queueSort',
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
] as const
export type ExtensionPoint = (typeof extensionPoints)[number]

/** A plugin that implements the extension point. */
export type PluginAt<Point extends ExtensionPoint> = SchedulerPlugin & Required<Pick<SchedulerPlugin, Point>>

export interface ScoringPlugin {
  readonly plugin: PluginAt<'score'>
  readonly weight: number
}

export interface Profile {
  readonly schedulerName: string
  /** 0: depends on the size of the cluster. */
  readonly percentageOfNodesToScore: number
  /** All plugins that are enabled at some extension point. */
  readonly plugins: readonly SchedulerPlugin[]
  readonly at: { readonly [Point in Exclude<ExtensionPoint, 'score'>]: readonly PluginAt<Point>[] }
  readonly scoring: readonly ScoringPlugin[]
}

export interface PointPlugins {
  readonly point: ExtensionPoint
  readonly plugins: readonly { readonly plugin: SchedulerPlugin; readonly weight: number }[]
}

const hasPoint = <Point extends ExtensionPoint>(plugin: SchedulerPlugin, point: Point): plugin is PluginAt<Point> =>
  plugin[point] !== undefined

/** Creates a profile from the plugins enabled at each extension point, without those that do not implement it. */
export function makeProfile(
  schedulerName: string,
  percentageOfNodesToScore: number,
  enabled: readonly PointPlugins[],
): Profile {
  const listed = (point: ExtensionPoint) => enabled.find((candidate) => candidate.point === point)?.plugins ?? []
  const at = <Point extends ExtensionPoint>(point: Point): PluginAt<Point>[] =>
    listed(point).flatMap(({ plugin }) => (hasPoint(plugin, point) ? [plugin] : []))
  return {
    schedulerName,
    percentageOfNodesToScore,
    plugins: [...new Set(enabled.flatMap(({ plugins }) => plugins.map(({ plugin }) => plugin)))],
    at: {
      preEnqueue: at('preEnqueue'),
      queueSort: at('queueSort'),
      preFilter: at('preFilter'),
      filter: at('filter'),
      postFilter: at('postFilter'),
      preScore: at('preScore'),
      reserve: at('reserve'),
      permit: at('permit'),
      preBind: at('preBind'),
      bind: at('bind'),
      postBind: at('postBind'),
    },
    scoring: listed('score').flatMap(({ plugin, weight }) => (hasPoint(plugin, 'score') ? [{ plugin, weight }] : [])),
  }
}

/** A profile with all plugins at every extension point that they implement. */
export const profileOf = (schedulerName: string, plugins: readonly SchedulerPlugin[], percentage = 0): Profile =>
  makeProfile(
    schedulerName,
    percentage,
    extensionPoints.map((point) => ({
      point,
      plugins: plugins.map((plugin) => ({ plugin, weight: plugin.weight ?? 1 })),
    })),
  )
