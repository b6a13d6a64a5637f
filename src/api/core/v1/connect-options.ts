// Options of connections to a pod, or through a pod, a service or a node: the query of the request as an object.
import { bool, list, message, string } from '../../../schema/descriptor/field.ts'

const streams = { stdin: bool(1), stdout: bool(2), stderr: bool(3), tty: bool(4), container: string(5) }

export const podAttachOptions = message('io.k8s.api.core.v1.PodAttachOptions', streams)
export const podExecOptions = message('io.k8s.api.core.v1.PodExecOptions', {
  ...streams,
  command: list(6, 'string', { keepEmpty: true, listType: 'atomic' }),
})
export const podPortForwardOptions = message('io.k8s.api.core.v1.PodPortForwardOptions', {
  ports: list(1, 'int32', { listType: 'atomic' }),
})

const proxyFields = { path: string(1) }

export const nodeProxyOptions = message('io.k8s.api.core.v1.NodeProxyOptions', proxyFields)
export const podProxyOptions = message('io.k8s.api.core.v1.PodProxyOptions', proxyFields)
export const serviceProxyOptions = message('io.k8s.api.core.v1.ServiceProxyOptions', proxyFields)
