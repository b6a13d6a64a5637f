// The addresses of a load balancer without a cloud, in the status of its Service.
import type { Context } from '../../base/observability/context.ts'
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { ReconcileTools } from '../../controllers/runtime/controller.ts'

/** Writes the addresses and records an event with the message, unless there are none or the Service is gone. */
export async function writeIngress(
  found: Service,
  ingress: readonly LoadBalancerIngress[],
  message: string,
  tools: Pick<ReconcileTools, 'client' | 'recordEvent'>,
  context: Context,
): Promise<void> {
  const status = { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } }
  try {
    await tools.client
      .of(service)
      .patch(found.metadata.name, namespaceOf(found), { status }, 'merge', context, 'status')
  } catch (error) {
    if (hasReason(error, 'NotFound')) return
    throw error
  }
  if (ingress.length > 0) tools.recordEvent(found, { type: 'Normal', reason: 'EnsuredLoadBalancer', message }, context)
}
