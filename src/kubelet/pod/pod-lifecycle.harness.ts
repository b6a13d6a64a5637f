// Builders of pods and runtime states, for tests.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'

export const nowMs = Date.UTC(2030, 0, 1)

export const aPod = (spec: object = {}, status: object = {}, metadata: object = {}): Pod => {
  const body = {
    metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n', ...spec },
    status,
  }
  return pod.applyDefaults(withDefaults(pod.message, decode(pod.message, body).value as unknown as Pod))
}

export const container = (
  name: string,
  state: RuntimeContainer['state'],
  more: Partial<RuntimeContainer> = {},
): RuntimeContainer => ({
  id: `${name}-id`,
  name,
  image: 'i',
  imageId: 'id',
  attempt: 0,
  state,
  startedMs: nowMs - 60_000,
  finishedMs: nowMs - 1000,
  exitCode: 0,
  reason: '',
  message: '',
  logPath: '',
  ...more,
})

export const sandbox = (...containers: RuntimeContainer[]): RuntimePod => ({
  podUid: 'u',
  namespace: 'default',
  name: 'p',
  sandboxId: 's',
  attempt: 0,
  isReady: true,
  ips: ['10.0.0.1'],
  containers,
})

export const failed = { exitCode: 1 }
export const init = {
  initContainers: [
    { name: 'i1', image: 'i' },
    { name: 'i2', image: 'i' },
  ],
}
export const sidecar = { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] }
