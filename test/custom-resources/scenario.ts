// A scenario: CustomResourceDefinitions and the requests that are sent to the server once they are served. The requests are
// here, the responses of upstream are in exchanges/.

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed if it is JSON; the events of a watch as a list; text otherwise. */
  // oxlint-disable-next-line typescript/no-explicit-any -- scenarios look into responses of every shape
  readonly body: any
}

export interface Step {
  readonly method: string
  /** `{{label.metadata.uid}}`, here and in the body, is a value of the response to the step with that label. */
  readonly path: string
  readonly contentType?: string
  readonly accept?: string
  /** Text is sent as it is. */
  readonly body?: object | string
  readonly label?: string
  /** For a watch: how many events are read before it is closed. */
  readonly events?: number
  /** Repeats the request until the response is as expected, for values that the server publishes with a delay. */
  readonly until?: (response: Response) => boolean
  /** The part of the body that is recorded. */
  readonly view?: (body: Response['body']) => unknown
  /** The response is not recorded: a preparation. */
  readonly isPreparation?: boolean
}

export interface Scenario {
  readonly name: string
  /** They are created first, and must be served before the first step is taken. */
  readonly definitions: readonly Definition[]
  readonly steps: readonly Step[]
}

export interface Definition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string; readonly [field: string]: unknown }
  readonly spec: DefinitionSpec
}

export interface DefinitionSpec {
  readonly group: string
  readonly scope: string
  readonly names: { readonly plural: string; readonly kind: string; readonly [field: string]: unknown }
  readonly versions: readonly DefinitionVersion[]
  readonly [field: string]: unknown
}

export interface DefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly [field: string]: unknown
}

export type Schema = Readonly<Record<string, unknown>>

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const mergePatch = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const applyPatch = 'application/apply-patch+yaml'

export const objectSchema = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })

/** A version with a schema, `v1` by default. */
export const version = (schema: Schema, more: Partial<DefinitionVersion> = {}): DefinitionVersion => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  ...more,
})

export const widgetNames = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }

/** A definition of Widgets in a group. */
export const definition = (
  group: string,
  versions: readonly DefinitionVersion[],
  spec: Partial<DefinitionSpec> = {},
): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${spec.names?.plural ?? 'widgets'}.${group}` },
  spec: { group, scope: 'Namespaced', names: widgetNames, versions, ...spec },
})

export const get = (path: string, more: Partial<Step> = {}): Step => ({ method: 'GET', path, ...more })
export const post = (path: string, body: Step['body'], more: Partial<Step> = {}): Step => ({
  method: 'POST',
  path,
  ...(body === undefined ? {} : { body }),
  ...more,
})
export const put = (path: string, body: object | string, more: Partial<Step> = {}): Step => ({
  method: 'PUT',
  path,
  body,
  ...more,
})
export const patch = (path: string, contentType: string, body: object | string, more: Partial<Step> = {}): Step => ({
  method: 'PATCH',
  path,
  contentType,
  body,
  ...more,
})
export const remove = (path: string, body?: object, more: Partial<Step> = {}): Step => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...more,
})

/** The paths and objects of the Widgets of one group, in the namespace `default`. */
export function widgetsOf(group: string, versionName = 'v1') {
  const root = `/apis/${group}/${versionName}`
  const list = `${root}/namespaces/default/widgets`
  return {
    group,
    root,
    list,
    path: (name: string) => `${list}/${name}`,
    object: (name: string, fields: object = {}, metadata: object = {}) => ({
      apiVersion: `${group}/${versionName}`,
      kind: 'Widget',
      metadata: { name, ...metadata },
      ...fields,
    }),
    create: (name: string, fields: object = {}, more: Partial<Step> = {}): Step =>
      post(list, { apiVersion: `${group}/${versionName}`, kind: 'Widget', metadata: { name }, ...fields }, more),
    /** Reads the object and replaces it: custom objects cannot be replaced without their resource version. */
    replace: (name: string, fields: object = {}, metadata: object = {}): Step[] => [
      get(`${list}/${name}`, { label: 'replaced', isPreparation: true }),
      put(`${list}/${name}`, {
        apiVersion: `${group}/${versionName}`,
        kind: 'Widget',
        metadata: { name, resourceVersion: '{{replaced.metadata.resourceVersion}}', ...metadata },
        ...fields,
      }),
    ],
    apply: (manager: string, name: string, fields: object = {}, query = ''): Step =>
      patch(`${list}/${name}?fieldManager=${manager}${query}`, applyPatch, {
        apiVersion: `${group}/${versionName}`,
        kind: 'Widget',
        metadata: { name },
        ...fields,
      }),
  }
}

/** Creating a definition that is rejected, or accepted without being stored. */
export const tryDefinition = (body: object, query = ''): Step => post(`${definitionsPath}?dryRun=All${query}`, body)

/** Creating a definition; one of the same name may still be being deleted. */
export const createDefinition = (body: object, more: Partial<Step> = {}): Step =>
  post(definitionsPath, body, {
    until: ({ body: answer }) => !String(answer.message).startsWith('object is being deleted'),
    ...more,
  })
