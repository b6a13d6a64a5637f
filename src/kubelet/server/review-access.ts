// Who may ask this kubelet, as the API server says: tokens and access are reviewed there. The API server itself need not be
// reviewed: it is the one that would be asked.
import { context } from '../../base/context.ts'
import { tokenReview } from '../../api/authentication/v1/token-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { Client } from '../../client/client.ts'
import type { KubeletAccess } from './access.ts'

export interface ReviewAccessOptions {
  readonly client: Client
  readonly nodeName: string
  /** The name in the certificate with which the API server calls kubelets. */
  readonly apiServer: string
}

export const reviewAccess = ({ client, nodeName, apiServer }: ReviewAccessOptions): KubeletAccess => ({
  async authenticateToken(token, signal) {
    const { status } = await client.of(tokenReview).create({ metadata: {}, spec: { token } }, '', context(signal))
    const { username = '', groups = [] } = status?.user ?? {}
    return status?.authenticated === true ? { name: username, groups } : undefined
  },
  async authorize({ name, groups }, verb, subresource, signal) {
    if (name === apiServer) return true
    const resourceAttributes = { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName }
    const spec = { user: name, groups: [...groups], resourceAttributes }
    const { status } = await client.of(subjectAccessReview).create({ metadata: {}, spec }, '', context(signal))
    return status.allowed
  },
})
