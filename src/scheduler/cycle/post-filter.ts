// runPostFilters: no node fits, so PostFilter plugins may free resources. The first plugin that nominates a node wins.
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

export async function runPostFilters(
  run: FilterRun,
  profile: Profile,
  log: Log,
  ctx: Context,
): Promise<PostFilterOutcome> {
  const failures: string[] = []
  let clearsNomination = false
  for (const plugin of profile.at.postFilter) {
    // As in upstream, a plugin that finds no state of its PreFilter ends PostFilter.
    if (!ranPreFilter(plugin, run, profile))
      return { nominated: undefined, failures: ['not found'], clearsNomination: false }
    const result = await callPostFilter(plugin, run, log, ctx)
    if (result.kind === 'nominated') return { nominated: result.nodeName, failures, clearsNomination }
    failures.push(result.message)
    clearsNomination ||= result.clearsNomination
  }
  return { nominated: undefined, failures, clearsNomination }
}

/** Whether the PreFilter of the plugin ran, or it has none. */
function ranPreFilter({ name }: PluginAt<'postFilter'>, { preFilterRejectedBy }: FilterRun, { at }: Profile): boolean {
  const order = at.preFilter.map((plugin) => plugin.name)
  return preFilterRejectedBy === undefined || order.indexOf(name) <= order.indexOf(preFilterRejectedBy)
}

/** The plugin starts synchronously, while the snapshot is as the filters saw it. */
async function callPostFilter(
  plugin: PluginAt<'postFilter'>,
  run: FilterRun,
  log: Log,
  ctx: Context,
): Promise<PostFilterResult> {
  try {
    return await plugin.postFilter(run, ctx)
  } catch (error) {
    const { name } = plugin
    log.warn('a PostFilter plugin failed', { pod: keyOf(run.cycle.pod), plugin: name, error: errorText(error) })
    return { kind: 'failed', message: `${name} failed`, clearsNomination: false }
  }
}
