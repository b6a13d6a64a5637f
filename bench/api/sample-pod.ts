// The Pod that benchmarks create repeatedly.

export const samplePod = (name: string) => ({
  metadata: { name, labels: { app: 'web', tier: 'front' } },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    schedulerName: 'none',
    containers: [
      {
        name: 'web',
        image: 'nginx:1.27',
        ports: [{ containerPort: 80 }],
        env: [{ name: 'MODE', value: 'production' }],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        readinessProbe: { httpGet: { path: '/healthz', port: 80 } },
      },
    ],
  },
})
