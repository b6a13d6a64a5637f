// The finalizers that request a deletion policy from the garbage collector.
export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'
