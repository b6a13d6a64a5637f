// What our own clients and API servers tell each other about flows, on the wire.

/** The header in which a client names the revisions that woke it. */
export const wokenByHeader = 'coxswain-woken-by'

/** Our own clients name themselves behind this mark in the User-Agent. */
export const senderMark = 'coxswain:'

/** Where an API server answers with the events that it has recorded. */
export const flowEventsPath = '/coxswain/v1/flow-events'

/** Before the key of a pod: where an API server answers with what the scheduler of its process decided about it. */
export const decisionsPath = '/coxswain/v1/decisions/'
