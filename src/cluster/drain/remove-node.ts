// Removes a node from its cluster: the Node, its Lease and its certificate requests. Its pods are drained before, unless the
// machine does not respond.
import { context, type Context } from '../../base/observability/context.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'
import { requestText } from '../../controllers/certificates/request-conditions.ts'
import { parseCertificateRequest } from '../../pki/parse-certificate-request.ts'
import { drainNode, type DrainDeps, type DrainOptions } from './drain-node.ts'

const leaseNamespace = 'kube-node-lease'
const nodeSigners = ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving']

export async function removeNode(
  name: string,
  options: DrainOptions,
  deps: DrainDeps,
  signal: AbortSignal,
): Promise<void> {
  const { client, out, warn } = deps
  const ctx = context(signal)
  const { status } = await client.of(node).get(name, '', ctx)
  const isReady = (status.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  )
  if (isReady) await drainNode(name, options, deps, signal)
  else warn(`Warning: node/${name} is not ready, so its pods are deleted without waiting for their end`)
  await client.of(node).delete(name, '', {}, ctx)
  await client.of(lease).delete(name, leaseNamespace, {}, ctx).catch(ignoreMissing)
  await removeRequests(name, client, ctx)
  out(`node/${name} removed`)
}

async function removeRequests(name: string, client: Client, ctx: Context): Promise<void> {
  const requests = client.of(certificateSigningRequest)
  for (const request of (await listAllPages(requests, {}, ctx)).items)
    if (isOfNode(request, name)) await requests.delete(request.metadata.name, '', {}, ctx).catch(ignoreMissing)
}

function isOfNode(request: CertificateSigningRequest, name: string): boolean {
  if (!nodeSigners.includes(request.spec.signerName)) return false
  try {
    return parseCertificateRequest(requestText(request)).subject.commonName === `system:node:${name}`
  } catch {
    return false // it is malformed
  }
}

function ignoreMissing(error: unknown): void {
  if (!hasReason(error, 'NotFound')) throw error
}
