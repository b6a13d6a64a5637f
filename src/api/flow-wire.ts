// What our own clients and API servers tell each other about flows, on the wire.

/** The header in which a client names the revisions that woke it. */
export const wokenByHeader = 'coxswain-woken-by'

/** Our own clients name themselves behind this mark in the User-Agent. */
export const senderMark = 'coxswain:'

/** Where an API server answers with the events that it has recorded. */
export const flowEventsPath = '/coxswain/v1/flow-events'
