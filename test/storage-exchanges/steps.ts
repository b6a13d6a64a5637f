// Builders of the requests of storage scenarios.
import type { Step } from '../services/scenario.ts'

const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const volumes = '/api/v1/persistentvolumes'
const storage = '/apis/storage.k8s.io/v1'

export const send = (method: Step['method'], path: string, body?: object): Step =>
  body === undefined ? { method, path } : { method, path, body }

interface Resource {
  create(name: string, body: object): Step
  /** A merge patch. */
  patch(name: string, body: object): Step
  patchStatus(name: string, status: object): Step
  read(name: string): Step
  remove(name: string): Step
}

const resource = (path: string): Resource => ({
  create: (name, body) =>
    send('POST', path, { ...body, metadata: { name, ...(body as { metadata?: object }).metadata } }),
  patch: (name, body) => send('PATCH', `${path}/${name}`, body),
  patchStatus: (name, status) => send('PATCH', `${path}/${name}/status`, { status }),
  read: (name) => send('GET', `${path}/${name}`),
  remove: (name) => send('DELETE', `${path}/${name}`),
})

export const claim = resource(claims)
export const volume = resource(volumes)
export const storageClass = resource(`${storage}/storageclasses`)
export const attributesClass = resource(`${storage}/volumeattributesclasses`)
export const attachment = resource(`${storage}/volumeattachments`)
export const csiNode = resource(`${storage}/csinodes`)
export const csiDriver = resource(`${storage}/csidrivers`)
export const capacity = resource(`${storage}/namespaces/default/csistoragecapacities`)

export const requesting = (size: string) => ({ resources: { requests: { storage: size } } })
export const createClaim = (name: string, spec: object = {}, metadata: object = {}): Step =>
  claim.create(name, { metadata, spec: { accessModes: ['ReadWriteOnce'], ...requesting('1Gi'), ...spec } })
export const bindClaim = (name: string, status: object = {}): Step =>
  claim.patchStatus(name, { phase: 'Bound', capacity: { storage: '1Gi' }, ...status })
export const resize = (name: string, size: string): Step => claim.patch(name, { spec: requesting(size) })
