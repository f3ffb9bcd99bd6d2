void attention(const float* q, const float* k, const float* v, float* o) { o[0] = q[0] + k[0] + v[0]; }
