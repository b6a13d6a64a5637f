// Stage, the custom resource of kwok: how objects of a kind change by themselves.
import { customResource, type KindObject } from '../../api/apiextensions/resource-type/custom-resource.ts'
import type { CustomResourceDefinitionInput } from '../../api/apiextensions/v1/custom-resource-definition.ts'

export const kwokGroup = 'kwok.x-k8s.io'
export const stageApiVersion = `${kwokGroup}/v1alpha1`

export type StageOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'

export interface StageRequirement {
  readonly key?: string
  readonly operator?: StageOperator
  readonly values?: readonly string[]
  /** The same in the form that names the language. */
  readonly jq?: { readonly key: string; readonly operator: StageOperator; readonly values?: readonly string[] }
}

/** A value that an expression finds in the object. */
export interface ValueFrom {
  readonly expressionFrom?: string
  readonly jq?: { readonly expression: string }
}

export interface StageFinalizers {
  readonly add?: readonly { readonly value: string }[]
  readonly remove?: readonly { readonly value: string }[]
  readonly empty?: boolean
}

export interface StageEvent {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
}

export interface StagePatch {
  readonly subresource?: string
  readonly root?: string
  readonly template?: string
  readonly type?: string
  readonly impersonation?: object
}

export interface StageFields {
  readonly spec: {
    readonly resourceRef: { readonly apiGroup?: string; readonly kind: string }
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>
      readonly matchAnnotations?: Readonly<Record<string, string>>
      readonly matchExpressions?: readonly StageRequirement[]
    }
    readonly weight?: number
    readonly weightFrom?: ValueFrom
    readonly delay?: {
      readonly durationMilliseconds?: number
      readonly durationFrom?: ValueFrom
      readonly jitterDurationMilliseconds?: number
      readonly jitterDurationFrom?: ValueFrom
    }
    readonly immediateNextStage?: boolean
    readonly next?: {
      readonly event?: StageEvent
      readonly finalizers?: StageFinalizers
      readonly delete?: boolean
      readonly statusTemplate?: string
      readonly statusSubresource?: string
      readonly patches?: readonly StagePatch[]
    }
    readonly steps?: readonly {
      readonly event?: StageEvent
      readonly finalizers?: StageFinalizers
      readonly delete?: boolean
      readonly patch?: StagePatch
    }[]
  }
}

type Schema = NonNullable<
  NonNullable<NonNullable<CustomResourceDefinitionInput['spec']['versions']>[number]['schema']>['openAPIV3Schema']
>

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer', format: 'int64' }
const boolean: Schema = { type: 'boolean' }
const object = (properties: Readonly<Record<string, Schema>>, ...required: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})
const list = (items: Schema): Schema => ({ type: 'array', items })
const textMap: Schema = { type: 'object', additionalProperties: string }

const operator: Schema = { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] }
const requirement = { key: string, operator, values: list(string) }
const valueFrom = object({ expressionFrom: string, jq: object({ expression: string }, 'expression') })
const event = object({ type: string, reason: string, message: string })
const finalizerItems = list(object({ value: string }))
const finalizers = object({ add: finalizerItems, remove: finalizerItems, empty: boolean })
const patch = object({
  subresource: string,
  root: string,
  template: string,
  type: { type: 'string', enum: ['json', 'merge', 'strategic'] },
  impersonation: object({ username: string }),
})

export const stageDefinitionName = `stages.${kwokGroup}`
export const stageDefinition: CustomResourceDefinitionInput = {
  metadata: { name: stageDefinitionName },
  spec: {
    group: kwokGroup,
    scope: 'Cluster',
    names: { kind: 'Stage', listKind: 'StageList', plural: 'stages', singular: 'stage' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: object(
            {
              spec: object(
                {
                  resourceRef: object({ apiGroup: { type: 'string', default: 'v1' }, kind: string }, 'kind'),
                  selector: object({
                    matchLabels: textMap,
                    matchAnnotations: textMap,
                    matchExpressions: list(object({ ...requirement, jq: object(requirement, 'key', 'operator') })),
                  }),
                  weight: integer,
                  weightFrom: valueFrom,
                  delay: object({
                    durationMilliseconds: integer,
                    durationFrom: valueFrom,
                    jitterDurationMilliseconds: integer,
                    jitterDurationFrom: valueFrom,
                  }),
                  immediateNextStage: boolean,
                  next: object({
                    event,
                    finalizers,
                    delete: boolean,
                    statusTemplate: string,
                    statusSubresource: string,
                    patches: list(patch),
                  }),
                  steps: list(object({ event, finalizers, delete: boolean, patch })),
                },
                'resourceRef',
              ),
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
            'spec',
          ),
        },
      },
    ],
  },
}

export const stageKind = customResource<StageFields>(stageDefinition)
export type StageObject = KindObject<typeof stageKind>
