// readStage: a Stage object, checked and compiled. Both forms of upstream are read: `next`, and the later `steps`.
import { parseJq } from '../jq/jq-parser.ts'
import type { JqQuery, JqValue } from '../jq/jq-query.ts'
import type { JsonValue } from '../../schema/json/json-value.ts'
import {
  stageApiVersion,
  type StageFields,
  type StageObject,
  type StagePatch,
  type StageRequirement,
  type ValueFrom,
} from './stage-kind.ts'
import { renderTemplate } from '../template/render-template.ts'
import { templateFunctions } from '../template/template-functions.ts'
import { parseTemplate } from '../template/template-parser.ts'
import type { TemplateFunctions, TemplateValue } from '../template/template-nodes.ts'
import { nodeConditions } from './node-conditions.ts'
import type { Measured, PatchContent, PatchType, Requirement, Stage, StageFunctions, StageStep } from './stage.ts'

/** Parses the YAML that a template gives. */
export type ParseYaml = (text: string) => Promise<unknown>

type Spec = StageFields['spec']
type GivenStage = Pick<StageObject, 'spec'> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: { readonly name: string }
}

/** Throws an Error that names the field. Undefined for a stage without a selector, which matches nothing. */
export function readStage({ apiVersion, kind, metadata, spec }: GivenStage, parseYaml: ParseYaml): Stage | undefined {
  if ((apiVersion ?? stageApiVersion) !== stageApiVersion || (kind ?? 'Stage') !== 'Stage')
    throw new Error(`${apiVersion} ${kind} is not ${stageApiVersion} Stage`)
  if (typeof spec?.resourceRef?.kind !== 'string') throw new Error('spec.resourceRef.kind: Required value')
  const { resourceRef, selector, weight, weightFrom, delay } = spec
  if (selector === undefined) return undefined
  return {
    name: metadata.name,
    apiVersion: resourceRef.apiGroup ?? 'v1',
    kind: resourceRef.kind,
    labels: selector.matchLabels ?? {},
    annotations: selector.matchAnnotations ?? {},
    requirements: (selector.matchExpressions ?? []).map((requirement, index) =>
      at(`spec.selector.matchExpressions[${index}]`, () => readRequirement(requirement)),
    ),
    weight: at('spec.weightFrom', () => measured(weight, weightFrom)),
    delay: delay && {
      durationMs: at('spec.delay.durationFrom', () => measured(delay.durationMilliseconds ?? 0, delay.durationFrom)),
      jitterMs: at('spec.delay.jitterDurationFrom', () =>
        measured(delay.jitterDurationMilliseconds, delay.jitterDurationFrom),
      ),
    },
    steps: readSteps(spec, parseYaml),
  }
}

function at<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`${field}: ${(error as Error).message}`, { cause: error })
  }
}

function readRequirement(given: StageRequirement): Requirement {
  const { key, operator, values = [] } = given.jq ?? given
  if (key === undefined || operator === undefined)
    throw new Error('key and operator are required; expressions in CEL are not supported')
  const isOfValues = operator === 'In' || operator === 'NotIn'
  if (isOfValues && values.length === 0) throw new Error(`values must not be empty for the operator ${operator}`)
  if (!isOfValues && values.length > 0) throw new Error(`values must be empty for the operator ${operator}`)
  return { query: parseJq(key), operator, values }
}

const measured = (value: number | undefined, from: ValueFrom | undefined): Measured => ({ value, from: queryOf(from) })

function queryOf(from: ValueFrom | undefined): JqQuery | undefined {
  const expression = from?.jq?.expression ?? from?.expressionFrom
  return expression === undefined ? undefined : parseJq(expression)
}

function readSteps({ next, steps, resourceRef }: Spec, parseYaml: ParseYaml): readonly StageStep[] {
  if (steps !== undefined) return steps.flatMap((step, index) => readStep(step, `spec.steps[${index}]`))
  if (next === undefined) return []
  const { statusTemplate, statusSubresource = 'status', patches = [], ...others } = next
  const first = readStep(others, 'spec.next')
  if (others.delete === true) return first
  const status = { subresource: statusSubresource, root: 'status', type: 'merge' }
  return [
    ...first,
    ...(statusTemplate === undefined
      ? []
      : [readPatch({ ...status, template: statusTemplate }, 'spec.next', 'statusTemplate')]),
    ...patches.map((patch, index) => readPatch(patch, `spec.next.patches[${index}]`)),
  ]

  function readStep(step: NonNullable<Spec['steps']>[number], field: string): readonly StageStep[] {
    const { event, finalizers, delete: isDeleted, patch } = step
    return [
      ...(event === undefined ? [] : [{ kind: 'event', event } as const]),
      ...(finalizers === undefined ? [] : [{ kind: 'finalizers', finalizers } as const]),
      ...(isDeleted === true ? [{ kind: 'delete' } as const] : []),
      ...(patch === undefined || isDeleted === true ? [] : [readPatch(patch, `${field}.patch`)]),
    ]
  }

  function readPatch(patch: StagePatch, field: string, named = 'template'): StageStep {
    const { subresource = '', root = '', template = '', type, impersonation } = patch
    if (impersonation !== undefined) throw new Error(`${field}.impersonation: is not supported`)
    const content = at(`${field}.${named}`, () => templateContent(template, parseYaml))
    const patchType = at(field, () => patchTypeOf(type, resourceRef))
    return { kind: 'patch', patchType, subresource, root, content }
  }
}

function patchTypeOf(type: string | undefined, { apiGroup = 'v1', kind }: Spec['resourceRef']): PatchType {
  if (type === undefined) return apiGroup === 'v1' && (kind === 'Node' || kind === 'Pod') ? 'strategic' : 'merge'
  if (type !== 'json' && type !== 'merge' && type !== 'strategic')
    throw new Error(`type ${JSON.stringify(type)} is none of json, merge, strategic`)
  return type
}

const ownFunctions = new Set([
  'Now',
  'StartTime',
  'Version',
  'NodeConditions',
  'NodeIP',
  'NodeName',
  'NodePort',
  'NodeIPWith',
  'PodIPWith',
])

function templateContent(source: string, parseYaml: ParseYaml): PatchContent {
  const isFunction = (name: string) => ownFunctions.has(name) || Object.hasOwn(templateFunctions, name)
  const template = parseTemplate(source.trim(), isFunction)
  return async (object, functions) => {
    const text = renderTemplate(template, object, functionsOf(functions))
    return (await parseYaml(text)) as JsonValue
  }
}

const text = (value: TemplateValue): string => (typeof value === 'string' ? value : '')

/** The names that templates have for what stages learn. Simulated nodes have no server of their own, so no name and no port. */
function functionsOf(given: StageFunctions): TemplateFunctions {
  return {
    ...templateFunctions,
    Now: () => given.now(),
    StartTime: () => given.startTime(),
    Version: () => given.version(),
    NodeConditions: () => nodeConditions,
    NodeIP: () => given.nodeIp(),
    NodeName: () => '',
    NodePort: () => 0,
    NodeIPWith: (node) => given.nodeIpWith(text(node)),
    PodIPWith: (node, isInHostNetwork, uid, name, namespace) =>
      given.podIpWith(text(node), isInHostNetwork === true, text(uid), text(name), text(namespace)),
  }
}

/** The object as expressions and templates see it. */
export const asJson = (object: object): JqValue => object as unknown as JqValue
