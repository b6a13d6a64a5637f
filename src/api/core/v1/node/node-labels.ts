// Well-known labels of nodes that several components read.

export const hostnameLabel = 'kubernetes.io/hostname'
export const zoneLabel = 'topology.kubernetes.io/zone'

/** An annotation of nodes whose volumes the attach/detach controller attaches. */
export const managedAttachmentAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'

/**
 * An annotation of nodes: the ports of load balancers that programs of the machine use, such as `22/TCP,53/UDP`. Its kubelet
 * sets it.
 */
export const usedPortsAnnotation = 'coxswain.dev/used-ports'
