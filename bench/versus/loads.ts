// The requests that are compared, as loads of wrk.
import { samplePod } from '../api/sample-pod.ts'
import type { WrkRequest } from '../wrk/wrk-load.ts'

export const namespace = 'bench'
export const group = 'bench.example.com'
export const core = `/api/v1/namespaces/${namespace}`
export const nodes = '/api/v1/nodes'
export const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
/** Of each kind that is read or changed. */
export const objectsStored = 100

export interface Load {
  readonly name: string
  readonly connections: number
  readonly request: WrkRequest
}

const configMap = { metadata: { name: 'NAME' }, data: { mode: 'production', size: 'small' } }
const get: WrkRequest = { method: 'GET', path: `${core}/configmaps/stored-INDEX`, objects: objectsStored }
const createConfigMap: WrkRequest = { method: 'POST', path: `${core}/configmaps`, body: configMap }
const createPod: WrkRequest = { method: 'POST', path: `${core}/pods`, body: samplePod('NAME') }

const nodeCondition = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  message: 'heartbeat NAME',
  lastHeartbeatTime: '2026-01-01T00:00:00Z',
}

export const loads: readonly Load[] = [
  { name: 'get a ConfigMap', connections: 64, request: get },
  { name: 'create a ConfigMap', connections: 64, request: createConfigMap },
  { name: 'create a Pod', connections: 64, request: createPod },
  { name: 'get a ConfigMap', connections: 1, request: get },
  { name: 'create a ConfigMap', connections: 1, request: createConfigMap },
  { name: 'create a Pod', connections: 1, request: createPod },
  {
    name: 'create a custom resource',
    connections: 64,
    request: {
      method: 'POST',
      path: `/apis/${group}/v1/namespaces/${namespace}/widgets`,
      body: {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { name: 'NAME' },
        spec: { size: 5, parts: ['a', 'b', 'c'] },
      },
    },
  },
  {
    name: 'server-side apply to ConfigMaps',
    connections: 64,
    request: {
      method: 'PATCH',
      path: `${core}/configmaps/stored-INDEX?fieldManager=bench&force=true`,
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'stored-INDEX' }, data: { applied: 'NAME' } },
      objects: objectsStored,
    },
  },
  {
    name: 'strategic merge patch of the status of Nodes',
    connections: 64,
    request: {
      method: 'PATCH',
      path: `${nodes}/node-INDEX/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [nodeCondition] } },
      objects: objectsStored,
    },
  },
  {
    name: 'renew Leases (merge patch)',
    connections: 64,
    request: {
      method: 'PATCH',
      path: `${leases}/lease-INDEX`,
      contentType: 'application/merge-patch+json',
      body: { spec: { holderIdentity: 'NAME' } },
      objects: objectsStored,
    },
  },
  {
    name: 'create an Event',
    connections: 64,
    request: {
      method: 'POST',
      path: `${core}/events`,
      body: {
        metadata: { name: 'NAME' },
        involvedObject: { kind: 'Pod', namespace, name: 'web' },
        reason: 'Started',
        message: 'Started container web',
        source: { component: 'kubelet' },
        type: 'Normal',
      },
    },
  },
]
