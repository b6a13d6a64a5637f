// The finalizers that keep volumes and claims while they are in use.
export const volumeFinalizer = 'kubernetes.io/pv-protection'
export const claimFinalizer = 'kubernetes.io/pvc-protection'
