// The finalizers by which a deletion tells the garbage collector what to do with the dependents.
export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'
