// The names of the entry `coxswain/controller`: what a controller needs besides its kinds and a connection.
export const controllerNames = {
  values: ['runController', 'watched'],
  types: [
    'CachedObjects',
    'ControllerElection',
    'ControllerOptions',
    'ObjectName',
    'ReconcileRequest',
    'Requeue',
    'WatchedKind',
  ],
}
