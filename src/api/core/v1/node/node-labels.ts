// Well-known labels of nodes that several components read.

export const zoneLabel = 'topology.kubernetes.io/zone'
