// runPostFilters: no node fits, so PostFilter plugins may free resources. The first plugin that nominates a node wins.
import { settleMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { keyOf } from '../../api/meta/object.ts'
import type { FilterRun, PostFilterResult } from '../framework/framework.ts'
import type { PluginAt, Profile } from '../framework/profile.ts'

export interface PostFilterOutcome {
  /** The nominated node; undefined when there is none. */
  readonly nominated: string | undefined
  /** Messages of the plugins that could not help. */
  readonly failures: readonly string[]
  readonly clearsNomination: boolean
}

/**
 * Without a plugin that waits, the result is there at once: the plugins see the snapshot as the filters saw it, and the next
 * cycle sees the nomination.
 */
export function runPostFilters(
  run: FilterRun,
  profile: Profile,
  log: Log,
  ctx: Context,
): MaybePromise<PostFilterOutcome> {
  const runFrom = (index: number, failures: readonly string[], clears: boolean): MaybePromise<PostFilterOutcome> => {
    const plugin = profile.at.postFilter[index]
    if (plugin === undefined) return { nominated: undefined, failures, clearsNomination: clears }
    // As in upstream, a plugin that finds no state of its PreFilter ends PostFilter.
    if (!ranPreFilter(plugin, run, profile))
      return { nominated: undefined, failures: ['not found'], clearsNomination: false }
    return thenMaybe(callPostFilter(plugin, run, log, ctx), (result) =>
      result.kind === 'nominated'
        ? { nominated: result.nodeName, failures, clearsNomination: clears }
        : runFrom(index + 1, [...failures, result.message], clears || result.clearsNomination),
    )
  }
  return runFrom(0, [], false)
}

/** Whether the PreFilter of the plugin ran, or it has none. */
function ranPreFilter({ name }: PluginAt<'postFilter'>, { preFilterRejectedBy }: FilterRun, { at }: Profile): boolean {
  const order = at.preFilter.map((plugin) => plugin.name)
  return preFilterRejectedBy === undefined || order.indexOf(name) <= order.indexOf(preFilterRejectedBy)
}

function callPostFilter(
  plugin: PluginAt<'postFilter'>,
  run: FilterRun,
  log: Log,
  ctx: Context,
): MaybePromise<PostFilterResult> {
  const failed = (error: unknown): PostFilterResult => {
    const { name } = plugin
    log.warn('a PostFilter plugin failed', { pod: keyOf(run.cycle.pod), plugin: name, error: errorText(error) })
    return { kind: 'failed', message: `${name} failed`, clearsNomination: false }
  }
  return settleMaybe(
    () => plugin.postFilter(run, ctx),
    (result) => result,
    failed,
  )
}
