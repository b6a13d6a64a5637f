// stageChanges: what a stage does with an object, as data.
import type { JsonValue } from '../../schema/json/json-value.ts'
import type { JqValue } from '../jq/jq-query.ts'
import type { StageFinalizers } from './stage-kind.ts'
import type { PatchType, Stage, StageFunctions, StageStep } from './stage.ts'

export type StageChange =
  | { readonly kind: 'event'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'patch'
      readonly patchType: PatchType
      readonly subresource: string
      readonly body: JsonValue
    }

/** In the order of the steps. All are computed from the object as it was before the first. */
export async function stageChanges(
  { steps }: Stage,
  object: JqValue,
  functions: StageFunctions,
): Promise<readonly StageChange[]> {
  const changes = await Promise.all(steps.map((step) => changeOf(step, object, functions)))
  return changes.filter((change) => change !== undefined)
}

async function changeOf(step: StageStep, object: JqValue, functions: StageFunctions): Promise<StageChange | undefined> {
  switch (step.kind) {
    case 'event': {
      const { type, reason = '', message = '' } = step.event
      return { kind: 'event', type: type === 'Warning' ? type : 'Normal', reason, message }
    }
    case 'finalizers':
      return finalizersChange(step.finalizers, object)
    case 'delete':
      return { kind: 'delete' }
    case 'patch': {
      const { patchType, subresource, root } = step
      const content = await step.content(object, functions)
      return { kind: 'patch', patchType, subresource, body: rooted(root, patchType, content) }
    }
    default:
      return step satisfies never
  }
}

interface Operation {
  readonly path: string
  readonly [field: string]: JsonValue
}

/** The paths of a JSON patch begin with the root; other patches are the content of that field. */
function rooted(root: string, patchType: PatchType, content: JsonValue): JsonValue {
  if (root === '') return content
  if (patchType !== 'json') return { [root]: content }
  if (!Array.isArray(content)) throw new Error('a template of type json must give a list of operations')
  return (content as readonly Operation[]).map((operation) => ({ ...operation, path: `/${root}${operation.path}` }))
}

function finalizersChange({ add = [], remove = [], empty }: StageFinalizers, object: JqValue): StageChange | undefined {
  const { metadata } = object as { readonly metadata?: { readonly finalizers?: readonly string[] } }
  const present = metadata?.finalizers ?? []
  const removed = new Set(remove.map(({ value }) => value))
  const kept = empty === true ? [] : present.filter((name) => !removed.has(name))
  const added = add.map(({ value }) => value).filter((name) => !kept.includes(name))
  const finalizers = [...kept, ...added]
  if (finalizers.length === present.length && finalizers.every((name, index) => name === present[index]))
    return undefined
  const path = '/metadata/finalizers'
  const body = finalizers.length === 0 ? [{ op: 'remove', path }] : [{ op: 'add', path, value: finalizers }]
  return { kind: 'patch', patchType: 'json', subresource: '', body }
}
