// A scenario: requests to an API server that has the extension server of the test behind APIServices. The requests are here,
// the responses of upstream are in exchanges.jsonl.
import type { Response } from '../custom-resources/scenario.ts'

export interface RequestStep {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
  /** For a watch: how many events are read before it is closed. */
  readonly events?: number
  /** Repeats the request until the response is as expected: conditions and documents are published with a delay. */
  readonly until?: (response: Response) => boolean
  /** The part of the body that is recorded. */
  readonly view?: (body: Response['body']) => unknown
  /** The response is not recorded. */
  readonly isPreparation?: boolean
}

/** What happens to the extension server. */
export interface ServerStep {
  readonly server: 'start' | 'stop' | 'fail' | 'recover'
}

export type Step = RequestStep | ServerStep

export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

export const isRequest = (step: Step): step is RequestStep => 'method' in step

export const get = (path: string, more: Partial<RequestStep> = {}): RequestStep => ({ method: 'GET', path, ...more })
export const post = (path: string, body: object | string, more: Partial<RequestStep> = {}): RequestStep => ({
  method: 'POST',
  path,
  body,
  ...more,
})
export const remove = (path: string, more: Partial<RequestStep> = {}): RequestStep => ({
  method: 'DELETE',
  path,
  ...more,
})
export const prepared = (step: RequestStep): RequestStep => ({ ...step, isPreparation: true })

/** Replaced by the port and the CA of the extension server. */
export const portPlaceholder = '<port>'
export const authorityPlaceholder = '<authority>'

export const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
export const services = '/api/v1/namespaces/default/services'
export const group = 'garden.example.com'
export const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }

export const serviceNamed = (name: string, spec: object): object => ({ metadata: { name }, spec })
export const externalService = serviceNamed('garden', { type: 'ExternalName', externalName: '127.0.0.1' })

export const apiService = (version: string, more: object = {}, service: object = {}, ofGroup = group): object => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `${version}.${ofGroup}` },
  spec: {
    group: ofGroup,
    version,
    groupPriorityMinimum: 2000,
    versionPriority: 10,
    service: { name: 'garden', namespace: 'default', port: portPlaceholder, ...service },
    caBundle: authorityPlaceholder,
    ...more,
  },
})

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

export const availableOf = ({ status = {} }: Response['body']): Condition | undefined =>
  (status.conditions as Condition[] | undefined)?.find(({ type }) => type === 'Available')

/** Reads the condition once it has the reason. */
export const condition = (version: string, reason: string, ofGroup = group): RequestStep =>
  get(`${apiServices}/${version}.${ofGroup}`, {
    until: ({ body }) => availableOf(body)?.reason === reason,
    view: (body) => {
      const { type, status, reason: found, message } = availableOf(body) as Condition
      return { type, status, reason: found, message }
    },
  })

/** The extension server behind versions v1 and v2, and nothing recorded. */
export const gardenServed: readonly Step[] = [
  prepared(post(services, externalService)),
  ...['v1', 'v2'].flatMap((version) => [
    prepared(post(apiServices, apiService(version))),
    prepared(condition(version, 'Passed')),
  ]),
  prepared(
    get('/apis', {
      headers: aggregated,
      until: ({ body }) =>
        JSON.stringify(versionsIn(body)?.map(({ freshness }) => freshness)) === '["Current","Current"]',
    }),
  ),
  prepared(get(`/openapi/v3/apis/${group}/v1`, { until: ({ status }) => status === 200 })),
]

export const versionsIn = (body: Response['body']): { readonly freshness: string }[] | undefined =>
  body.items?.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group)?.versions
