// SPDX-License-Identifier: Apache-2.0
// Made by the op, destroyed by whoever holds it, on a core of any VLEN.
struct Holder {
  virtual ~Holder();
  virtual void clear();
  int values[64];
};
Holder::~Holder() { clear(); }
void Holder::clear() {
  for (int& value : values) value = 3 * value + 1;
}
Holder* made;
int total(const int* values, int count) {
  made = new Holder;
  return values[count - 1];
}
