// A scenario: requests about Services that are sent to a server in order. The requests are here, the responses of upstream
// are in exchanges/.

export interface Step {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
  readonly path: string
  readonly body?: object
}

export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

/** A server with these flags, and the scenarios that are sent to it. */
export interface Configuration {
  readonly clusterRanges: string
  readonly nodePorts?: string
  readonly scenarios: readonly Scenario[]
}

export type Spec = Readonly<Record<string, unknown>>

const services = '/api/v1/namespaces/default/services'
const pathOf = (name: string): string => `${services}/${name}`

export const selected = { selector: { app: 'web' } }
export const onePort = { ports: [{ port: 80 }] }
/** What most Services have. */
const usual = { ...selected, ...onePort }

export const create = (name: string, spec: Spec = {}): Step => ({
  method: 'POST',
  path: services,
  body: { metadata: { name }, spec: { ...usual, ...spec } },
})
/** A Service that has only these fields. */
export const createOnly = (name: string, spec: Spec): Step => ({
  method: 'POST',
  path: services,
  body: { metadata: { name }, spec },
})
export const dryRun = (step: Step): Step => ({ ...step, path: `${step.path}?dryRun=All` })
export const replace = (name: string, spec: Spec = {}): Step => ({
  method: 'PUT',
  path: pathOf(name),
  body: { metadata: { name }, spec: { ...usual, ...spec } },
})
/** null removes a field. */
export const patch = (name: string, spec: Spec): Step => ({ method: 'PATCH', path: pathOf(name), body: { spec } })
export const patchStatus = (name: string, status: Spec): Step => ({
  method: 'PATCH',
  path: `${pathOf(name)}/status`,
  body: { status },
})
export const read = (path: string): Step => ({ method: 'GET', path })
export const readAddress = (address: string): Step => read(`/apis/networking.k8s.io/v1/ipaddresses/${address}`)
export const remove = (name: string): Step => ({ method: 'DELETE', path: pathOf(name) })

export const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
export const createRange = (name: string, ...cidrs: readonly string[]): Step => ({
  method: 'POST',
  path: ranges,
  body: { metadata: { name }, spec: { cidrs } },
})
export const createAddress = (name: string, parentRef?: object): Step => ({
  method: 'POST',
  path: '/apis/networking.k8s.io/v1/ipaddresses',
  body: { metadata: { name }, spec: parentRef === undefined ? {} : { parentRef } },
})
